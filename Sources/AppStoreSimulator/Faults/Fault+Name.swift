extension Fault.Effect {
    /// The name on the control port.
    package var name: String {
        switch self {
        case .status: "status"
        case .latency: "latency"
        case .connectionReset: "connectionReset"
        case .garbage: "garbage"
        case .truncatedBody: "truncatedBody"
        case .clockSkew: "clockSkew"
        case .tampering(let tampering): tampering.rawValue
        }
    }
}
