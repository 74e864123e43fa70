"""Pictures that show a network: a layout a family, from traffic to a list of what is drawn."""
