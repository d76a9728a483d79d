import Domain
import GRDB

/// Whether somebody's withdrawal stands against an answer, by `ConsentRules`, as one transaction sees links and consent.
enum ConsentQuery {
    static func objection(
        to subject: ConsentSubject, _ tombstones: Tombstones, in database: Database
    ) throws -> ConsentObjection? {
        var situation = ConsentRules.Situation()
        situation.owner = try OwnerQuery.owner(of: subject, in: database)
        let mayBeErased = try tombstones.hasAny(database)
        for user in Set([subject.user, situation.owner].compactMap(\.self)) {
            situation.latest[user] = try ConsentRow.latest(app: subject.app, user: user, from: database)
            if try mayBeErased && tombstones.isErased(user, app: subject.app, in: database) {
                situation.erasedUsers.insert(user)
            }
        }
        situation.isErasedPurchase =
            try mayBeErased && tombstones.isErased(subject.linkTargets, app: subject.app, in: database)
        return ConsentRules.objection(to: subject, situation)
    }
}
