"""The question bank in the forms of other programs: Moodle XML and GIFT both ways, QTI 1.2 and Anki out."""
