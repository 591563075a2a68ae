"""The processes of a proof: the warm JVM, the children that run the job, their workers."""
