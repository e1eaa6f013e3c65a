"""serving.kserve.io: inference services, LLM inference services and their runtimes."""
