package import Domain
package import Foundation

// How a claimed or queued delivery goes on or ends: by what its attempt led to, by a worker that is no more, by its deadline.

extension SQLStore {
    package func conclude(_ conclusion: DeliveryConclusion) async throws(ServiceError) -> Delivery? {
        try await write("record what became of a delivery") { database in
            guard var row = try DeliveryRow.fetch(app: conclusion.app, id: conclusion.id, from: database),
                row.takes(conclusion)
            else { return nil }
            let isNews = try row.learn(conclusion.findings, in: database)
            let concluded = try row.conclude(conclusion, in: database)
            if isNews, let purchase = concluded.purchase {
                // Its case may have been waiting for it.
                _ = try PurchaseRow.settle(purchase, app: concluded.app, at: conclusion.at, in: database)
            }
            if concluded.state == .accepted, let user = concluded.user {
                // In the same transaction, so that an erasure that comes between removes it, or is not undone by it.
                try LinkRow.learn(
                    Link(
                        app: concluded.app, user: user, target: LinkTarget(.transactionId, concluded.transactionID),
                        environment: concluded.environment, source: .consumption, validFrom: nil, validUntil: nil,
                        createdAt: conclusion.at, createdBy: concluded.caller), in: database)
            }
            return try DeliveryRow.present(app: concluded.app, id: concluded.id, from: database)
        }
    }

    package func recoverDeliveries(worker: String, at now: Date) async throws(ServiceError) -> Int {
        // Where the store is shared, each copy asks every few seconds, and mostly in vain.
        if isShared {
            let isAnythingLost = try await read("look for claims whose lease is over") { [sharing] database in
                try DeliveryRow.isAnyLeaseOver(at: sharing.time(now, in: database), in: database)
            }
            guard isAnythingLost else { return 0 }
        }
        return try await write("take deliveries back from workers that are no more") { [sharing] database in
            let time = try sharing.time(now, in: database).milliseconds
            let lost =
                switch sharing {
                // A lock leaves this process alone with the store.
                case .alone: try DeliveryRow.sending("(worker <> ? OR leaseUntil <= ?)", [worker, time], in: database)
                case .shared: try DeliveryRow.sending("leaseUntil <= ?", [time], in: database)
                }
            for row in lost {
                _ = try row.interrupted(
                    as: row.cancellation == nil ? .queued : .cancelled, because: row.cancellation, at: now,
                    in: database)
            }
            return lost.count
        }
    }

    package func expireDeliveries(at now: Date, limit: Int) async throws(ServiceError) -> [Delivery] {
        // Asked at each turn of the dispatcher, and mostly in vain: no turn of the writer is taken for nothing.
        let isAnythingOver = try await read("look for what has expired") { [sharing] database in
            try DeliveryRow.isAnythingOver(at: now, leases: sharing.time(now, in: database), in: database)
        }
        guard isAnythingOver else { return [] }
        return try await write("expire deliveries") { [sharing] database in
            let leases = try sharing.time(now, in: database)
            _ = try DeliveryRow.promote(at: now, in: database)
            let queued = try DeliveryRow.list(
                database,
                sql:
                    "SELECT \(DeliveryRow.columns) FROM delivery WHERE isReady = 1 AND deadline <= ? ORDER BY deadline, id LIMIT ?",
                arguments: [now.milliseconds, limit])
            let lost = try DeliveryRow.sending(
                "deadline <= ? AND leaseUntil <= ?", [now.milliseconds, leases.milliseconds], in: database)
            var ended: [Delivery] = []
            for row in queued {
                ended.append(try row.end(as: .expired, because: row.lateness, at: now, in: database))
            }
            for row in lost.prefix(limit - queued.count) {
                ended.append(
                    try row.interrupted(
                        as: row.cancellation == nil ? .expired : .cancelled, because: row.cancellation ?? row.lateness,
                        at: now, in: database))
            }
            return ended
        }
    }
}

extension DeliveryRow {
    /// Whether a conclusion counts: it is of the claim that there is, or Apple has accepted under one that was lost, and nobody
    /// sends the delivery again yet.
    fileprivate func takes(_ conclusion: DeliveryConclusion) -> Bool {
        switch (delivery.state, conclusion.outcome) {
        case (.sending, _): isClaimed(by: conclusion.worker, at: conclusion.claimedAt)
        case (.queued, .accepted): delivery.mayHaveReachedApple
        default: false
        }
    }

    /// Whether something has expired, or may have once it is made ready.
    ///
    /// `leases`: the time by which leases end.
    static func isAnythingOver(at now: Date, leases: Date, in database: SQLDatabase) throws -> Bool {
        let now = now.milliseconds
        return try [
            ("SELECT 1 FROM delivery WHERE isReady = 1 AND deadline <= ? LIMIT 1", [now]),
            ("SELECT 1 FROM delivery WHERE isReady = 0 AND dueAt <= ? LIMIT 1", [now]),
            (
                "SELECT 1 FROM delivery WHERE state = 'sending' AND app > '' AND deadline <= ? AND leaseUntil <= ? LIMIT 1",
                [now, leases.milliseconds]
            ),
        ].contains { try Int.fetchOne(database.cachedStatement(sql: $0), arguments: SQLArguments($1)) != nil }
    }

    /// Whether a claim's lease is over by a time.
    static func isAnyLeaseOver(at time: Date, in database: SQLDatabase) throws -> Bool {
        try Int.fetchOne(
            database.cachedStatement(
                sql: "SELECT 1 FROM delivery WHERE state = 'sending' AND app > '' AND leaseUntil <= ? LIMIT 1"),
            arguments: [time.milliseconds]) != nil
    }

    /// Deliveries that are being sent under a claim that a condition names; they are few.
    static func sending(_ condition: String, _ arguments: SQLArguments, in database: SQLDatabase) throws
        -> [DeliveryRow]
    {
        // `app > ''` names the partial index's first column, so that it is searched.
        try list(
            database,
            sql:
                "SELECT \(DeliveryRow.columns) FROM delivery WHERE state = 'sending' AND app > '' AND \(condition) ORDER BY app, transactionId",
            arguments: arguments)
    }

    /// Ends a claim that its worker does not come back for: it may have sent the delivery.
    func interrupted(
        as state: Delivery.State, because failure: DeliveryFailure?, at now: Date, in database: SQLDatabase
    )
        throws -> Delivery
    {
        var given = self
        given.delivery.mayHaveReachedApple = true
        let attempt = claim.map { DeliveryAttempt.interrupted(startedAt: $0.at) }
        let attempts = attempt.map { [$0] } ?? []
        if state != .queued {
            return try given.end(as: state, because: failure, adding: attempts, at: now, in: database)
        }
        given.delivery.state = .queued
        given.delivery.nextAttemptAt = now
        return try save(given.delivery, adding: attempts, at: now, in: database)
    }

    /// Keeps what an attempt found out.
    ///
    /// - Returns: whether the purchase was not known before.
    mutating func learn(_ findings: DeliveryFindings, in database: SQLDatabase) throws -> Bool {
        let isNews = delivery.purchase == nil
        if let environment = findings.environment ?? findings.purchase?.environment,
            environment != delivery.environment
        {
            try database.cachedStatement(sql: "UPDATE delivery SET environment = ? WHERE id = ?")
                .execute(arguments: [environment.rawValue, delivery.id])
            delivery.environment = environment
        }
        if let warnings = findings.warnings, warnings != delivery.warnings {
            try database.cachedStatement(sql: "UPDATE delivery SET warnings = ? WHERE id = ?")
                .execute(arguments: [try JSONEncoder().encode(warnings), delivery.id])
        }
        // What an erasure removed does not come back.
        if let purchase = findings.purchase, purchase != delivery.purchase, !isErased {
            let effective = try PurchaseTokenRow.effective(purchase, app: delivery.app, in: database)
            try Self.save(effective, of: delivery.id, in: database)
            delivery.purchase = effective
        }
        return isNews && delivery.purchase != nil
    }

    /// Takes the delivery to the state that its attempt led to.
    fileprivate func conclude(_ conclusion: DeliveryConclusion, in database: SQLDatabase) throws -> Delivery {
        let now = conclusion.at
        var row = self
        row.delivery.mayHaveReachedApple = delivery.mayHaveReachedApple || conclusion.mayHaveReachedApple
        func end(_ state: Delivery.State, _ failure: DeliveryFailure?) throws -> Delivery {
            try row.end(
                as: state, because: isErased ? failure?.withoutUser : failure, adding: conclusion.attempts, at: now,
                in: database)
        }
        switch conclusion.outcome {
        case .accepted:
            row.delivery.mayHaveReachedApple = false
            let accepted = try end(.accepted, nil)
            if let caseID = delivery.caseID {
                try CaseRow.markAnswered(app: delivery.app, id: caseID, at: now, in: database)
            }
            return accepted
        case .refused(let failure): return try end(.refused, failure)
        case .cancelled(let failure): return try end(.cancelled, failure)
        case .retry(let date, let failure):
            if let cancellation { return try end(.cancelled, cancellation) }
            row.delivery.state = .queued
            row.delivery.nextAttemptAt = date
            row.delivery.failure = failure
            return try save(row.delivery, adding: conclusion.attempts, at: now, in: database)
        }
    }

    /// The failure of a delivery whose deadline has passed.
    fileprivate var lateness: DeliveryFailure {
        let last = delivery.failure.map { " The last attempt failed: \($0.message)" } ?? ""
        return DeliveryFailure(
            reason: .deadlineExceeded, message: "The deadline passed before Apple had accepted it.\(last)",
            apple: delivery.failure?.apple)
    }
}
