"""What a cluster costs and gains: workers against each other, and bytes that travel."""
