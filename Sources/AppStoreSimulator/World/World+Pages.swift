import AppStoreAPI

extension World {
    /// One page of a customer's history, by last change.
    ///
    /// - Throws: 4000005.
    func historyPage(of customer: Customer, filter: HistoryFilter, size: Int) throws(Refusal) -> TransactionPage {
        let list = "history \(customer.bundleID) \(customer.accountID) \(filter.canonicalText)"
        let entries = records(of: customer).filter { filter.admits($0.payload) }.map { record in
            let key = Int64(record.modification)
            // The newest first is the same order with the sign turned.
            return Entry(
                position: Revision.Position(key: filter.isDescending ? -key : key, modification: record.modification),
                payload: record.payload)
        }
        return try page(of: entries, list: list, after: filter.revision, size: size)
    }

    /// One page of a customer's refunds, by date.
    ///
    /// - Throws: 4000005.
    func refundPage(of customer: Customer, revision: String?, size: Int) throws(Refusal) -> TransactionPage {
        let list = "refunds \(customer.bundleID) \(customer.accountID)"
        let entries = records(of: customer).filter(\.isRefunded).map { record in
            Entry(
                position: Revision.Position(
                    key: record.payload.revocationDate ?? 0, modification: record.modification),
                payload: record.payload)
        }
        return try page(of: entries, list: list, after: revision, size: size)
    }

    /// The refunds of a customer with the latest dates, the latest first.
    func latestRefunds(of customer: Customer, limit: Int) -> [TransactionPayload] {
        let refunded = records(of: customer).filter(\.isRefunded).sorted {
            ($0.payload.revocationDate ?? 0, $0.modification) > ($1.payload.revocationDate ?? 0, $1.modification)
        }
        return refunded.prefix(limit).map(\.payload)
    }

    private struct Entry {
        let position: Revision.Position
        let payload: TransactionPayload
    }

    private func page(
        of entries: [Entry], list: String, after revision: String?, size: Int
    ) throws(Refusal) -> TransactionPage {
        let start: Revision.Position?
        if let revision { start = try Revision(revision, of: list).position } else { start = nil }
        let left = entries.filter { entry in start.map { entry.position > $0 } ?? true }
            .sorted { $0.position < $1.position }
        let page = left.prefix(size)
        let end = page.last?.position ?? start ?? Revision.Position(key: .min, modification: 0)
        return TransactionPage(
            transactions: page.map(\.payload), revision: Revision(list: list, position: end),
            hasMore: left.count > page.count)
    }
}
