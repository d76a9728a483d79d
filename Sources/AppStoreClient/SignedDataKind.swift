/// What Apple signs.
package enum SignedDataKind: Sendable, CaseIterable {
    case transaction
    case renewalInfo
    case appTransaction
    case notification
    case realtimeRequest
}
