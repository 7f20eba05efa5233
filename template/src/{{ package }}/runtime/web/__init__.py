"""The HTTP API and the inbox: what people and programs reach over the network.

api.py says what can be asked for, access.py who may ask, runs.py how threads go on meanwhile.
inbox.html, inbox.css and inbox.js are the page; they are yours to change.
"""
