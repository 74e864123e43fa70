"""What every package uses: errors, files, units, words, progress, compilation, array names."""
