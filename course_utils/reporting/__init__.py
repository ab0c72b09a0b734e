"""How results are printed and saved: tables, units, error texts, files written whole."""
