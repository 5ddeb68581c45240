"""What a picture looks like, and the formats that it is written in: DOT, SVG, PNG, PDF and TikZ."""
