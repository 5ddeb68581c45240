"""What a picture shows, as one kind of graph for everything that can be drawn; :mod:`viz.model.build` describes it."""
