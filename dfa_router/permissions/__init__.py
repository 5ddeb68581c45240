"""Who can read or write what, as brokers decide it: RabbitMQ's topic permissions, Mosquitto's lists, NATS' subjects.

Each broker has a module that gives its verdicts, and says what a rule lets through against its evident intent.
"""
