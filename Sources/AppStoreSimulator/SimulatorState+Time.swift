extension SimulatorState {
    /// Does what was due by now.
    func passTime() {
        let now = milliseconds
        if withContent({ $0.passTime(to: now) }) { agendaChanged() }
    }

    /// Changes the world in one step, after what was due before; what happens is notified of.
    func change<Result: Sendable>(
        _ body: (inout World, _ now: Int64) throws(ControlError) -> Result
    ) throws(ControlError) -> Result {
        let now = milliseconds
        defer { agendaChanged() }
        return try withContent { content throws(ControlError) in
            content.passTime(to: now)
            defer { content.postEvents() }
            return try body(&content.world, now)
        }
    }
}

extension SimulatorState.Content {
    /// How many things happen by themselves before somebody else has a turn.
    private static let longestPass = 1000

    /// Does what was due by now, or as much of it as may be done in one pass; false if nothing was.
    @discardableResult
    mutating func passTime(to now: Int64) -> Bool {
        var steps = 0
        while steps < Self.longestPass, world.takeStep(by: now) {
            // At once, since a notification tells how things were when it happened.
            postEvents()
            steps += 1
        }
        return steps > 0
    }

    /// Notifies of what has happened.
    mutating func postEvents() {
        for event in world.takeEvents() {
            switch event.subject {
            case .transaction(let id):
                guard let record = world.records[id] else { continue }
                post(draft(event.type, event.subtype, about: record, at: event.date), now: event.date)
            case .summary(let summary):
                let draft = NotificationDraft(
                    event.type, event.subtype, of: event.app.bundleID, in: event.app.environment,
                    about: .summary(summary))
                post(draft, now: event.date)
            }
        }
    }
}
