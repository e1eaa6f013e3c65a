"""Policies of Gatekeeper: ConstraintTemplates in Rego with their constraints, evaluated as Gatekeeper would."""
