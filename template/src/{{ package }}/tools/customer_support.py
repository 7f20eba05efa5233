"""Customer support. The functions are yours to change; `send_refund` is the one that pays.

No code here asks for approval: that was decided in policy.py before anything here runs.
"""

import time
from decimal import Decimal

from ..runtime.database import open_database
from ..runtime.errors import ToolError

Number = int | float

LEDGER = """
CREATE TABLE IF NOT EXISTS refunds (
    order_id TEXT PRIMARY KEY,
    amount TEXT NOT NULL,
    reason TEXT NOT NULL,
    key TEXT NOT NULL UNIQUE,
    at DOUBLE PRECISION NOT NULL
)
"""  # money is text: exact, whatever the database


def check_refund(order_id: str, amount: Number) -> None:
    """Raise ToolError unless a refund with these arguments makes sense."""
    if not order_id.strip():
        raise ToolError("order_id is empty; ask the user for it")
    if _money(amount) <= 0:
        raise ToolError(f"amount must be positive, got {_money(amount)}")


def process_refund(order_id: str, amount: Number, reason: str, key: str) -> str:
    """Give `amount` back for an order and say so.

    order_id: the order as the user wrote it. amount: in the shop's currency, above 0.
    reason: why, for the books. key: the same for every try of this one call.
    """
    money = _money(amount)
    send_refund(order_id, money, reason, key)
    return f"refund {money} for order {order_id} processed"


def send_refund(order_id: str, amount: Decimal, reason: str, key: str) -> None:
    """Pay the money back. It is a stand-in that keeps a ledger and moves none: call your payment
    provider here, and hand `key` on as its idempotency key.

    What the ledger does a provider has to do as well: the same key twice is one refund, and another
    one of the same order is an error. Raise ToolError only if nothing was paid; after any other
    error the agent tries again with the same key, and then asks a person.
    """
    ledger = open_database()
    ledger.change(LEDGER)
    ledger.change(
        "INSERT INTO refunds VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        same(order_id),
        str(amount),
        reason,
        key,
        time.time(),
    )
    found = ledger.rows("SELECT key, amount FROM refunds WHERE order_id = ?", same(order_id))
    ledger.close()
    if found[0][0] != key:
        raise ToolError(f"order {order_id} got {found[0][1]} back already", "already_refunded")


def same(order_id: str) -> str:
    """The order id in the one spelling under which its refund is booked."""
    return order_id.strip().casefold()


def _money(amount: Number) -> Decimal:
    return Decimal(repr(amount))  # exact: repr is the number that the model wrote
