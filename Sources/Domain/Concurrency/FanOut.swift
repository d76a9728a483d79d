/// Asks the same of several things, a bounded number at a time, all cancelled together.
enum FanOut {
    /// The answers in the order of the items.
    ///
    /// - Parameters:
    ///   - items: what is asked about; nothing is started for one before there is room for it.
    ///   - bound: how many questions may be under way at once.
    ///   - isPartialAllowed: whether a failure leaves the other questions alone; otherwise the first one cancels them.
    ///   - ask: the question.
    /// - Returns: one result an item; only successes unless `isPartialAllowed`.
    /// - Throws: the first failure, unless `isPartialAllowed`.
    static func results<Item: Sendable, Value: Sendable>(
        of items: [Item], atMost bound: Int, isPartialAllowed: Bool,
        _ ask: @escaping @Sendable (Item) async throws(ServiceError) -> Value
    ) async throws(ServiceError) -> [Result<Value, ServiceError>] {
        typealias Part = (index: Int, result: Result<Value, ServiceError>)
        let gathered = await withTaskGroup(of: Part.self) { group in
            var results: [Result<Value, ServiceError>?] = Array(repeating: nil, count: items.count)
            var failure: ServiceError?
            func keep(_ part: Part) {
                results[part.index] = part.result
                guard case .failure(let error) = part.result, !isPartialAllowed, failure == nil else { return }
                failure = error
                group.cancelAll()
            }
            for (index, item) in items.enumerated() {
                if index >= bound, let part = await group.next() { keep(part) }
                guard failure == nil else { break }
                group.addTask {
                    do throws(ServiceError) {
                        return (index, .success(try await ask(item)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            while let part = await group.next() { keep(part) }
            return failure.map(Result.failure) ?? Result.success(results.compactMap(\.self))
        }
        return try gathered.get()
    }
}
