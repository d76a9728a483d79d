/// Which transactions were bought in which order.
struct OrderBook: Sendable {
    private var transactions: [String: [String]] = [:]
    private var orders: [String: String] = [:]

    /// The order that a transaction belongs to; none for what a family member was given.
    func order(of transactionID: String) -> String? { orders[transactionID] }

    /// The transactions of an order, in the order in which they were made; empty if there is no such order.
    func transactions(of orderID: String) -> [String] { transactions[orderID] ?? [] }

    mutating func open(_ orderID: String, with transactionID: String) {
        transactions[orderID, default: []].append(transactionID)
        orders[transactionID] = orderID
    }

    /// Adds a further transaction of something that was bought already.
    mutating func add(_ transactionID: String, toOrderOf other: String) {
        if let orderID = orders[other] { open(orderID, with: transactionID) }
    }
}
