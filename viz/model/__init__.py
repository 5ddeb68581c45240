"""What a picture shows: one kind of graph, made from everything that can be drawn; its attributes: :mod:`viz.model.build`."""
