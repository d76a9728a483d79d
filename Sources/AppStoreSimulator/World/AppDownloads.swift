import AppStoreAPI

/// How customers came to have their apps: what app transactions tell.
struct AppDownloads: Sendable {
    private var ids: [Customer: String] = [:]
    private var customers: [String: Customer] = [:]
    /// What was set at the control port.
    private var details: [Customer: AppTransactionPayload] = [:]
    /// Those of whom Apple has no app transaction.
    private var missing: Set<Customer> = []

    func id(of customer: Customer) -> String? { ids[customer] }

    func customer(of id: String) -> Customer? { customers[id] }

    mutating func add(_ id: String, of customer: Customer) {
        ids[customer] = id
        customers[id] = customer
    }

    /// What is known beside the identifiers; nil if there is no app transaction.
    subscript(customer: Customer) -> AppTransactionPayload? {
        get { missing.contains(customer) ? nil : details[customer] ?? AppTransactionPayload() }
        set {
            details[customer] = newValue
            if newValue == nil { missing.insert(customer) } else { missing.remove(customer) }
        }
    }
}
