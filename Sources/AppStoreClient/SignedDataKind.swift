/// What Apple signs.
enum SignedDataKind: Sendable, CaseIterable {
    case transaction
    case renewalInfo
    case appTransaction
    case notification
    case realtimeRequest
}
