/// Decides whether somebody's withdrawal stands against an answer: the one rule behind every way out.
package enum ConsentRules {
    /// What the rule looks at.
    package struct Situation: Sendable {
        /// By the owner rule; nil when nobody is known.
        package var owner: UserID?
        /// The latest record of the named user and of the owner, as far as there are any.
        package var latest: [UserID: ConsentRecord] = [:]
        /// Users among the two whose withdrawal an erasure left behind.
        package var erasedUsers: Set<UserID> = []
        /// Whether one of the purchase's identifiers was linked to an erased user who had withdrawn.
        package var isErasedPurchase = false

        package init() {}
    }

    /// The objection, if there is one.
    ///
    /// A purchase whose owner is known again is judged by that owner, whoever was erased before.
    package static func objection(to subject: ConsentSubject, _ situation: Situation) -> ConsentObjection? {
        for user in [subject.user, situation.owner].compactMap(\.self) {
            if let record = situation.latest[user] {
                if !record.isConsented { return .withdrawn(user) }
            } else if situation.erasedUsers.contains(user) {
                return .withdrawn(user)
            }
        }
        return situation.owner == nil && situation.isErasedPurchase ? .erased : nil
    }
}
