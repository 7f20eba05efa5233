"""Customer support. The functions are yours to change; `send_refund` is the one that pays.

No code here asks for approval: that was decided in policy.py before anything here runs.
"""

from decimal import Decimal

from ..runtime.errors import ToolError

Number = int | float


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
    """Pay the money back. It is a stand-in that moves none: call your payment provider here.

    Hand `key` on as the provider's idempotency key, so that a repeated try pays once.
    """


def _money(amount: Number) -> Decimal:
    return Decimal(repr(amount))  # exact: repr is the number that the model wrote
