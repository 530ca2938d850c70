"""What `import judgebook as jb` offers for a frame of judgements."""
