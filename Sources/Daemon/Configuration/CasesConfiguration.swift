/// How refund cases are watched.
package struct CasesConfiguration: Sendable, Equatable {
    /// How long before its deadline a case that nobody has answered is warned of, the longest first; empty for no warnings.
    package let warnBefore: [Duration]

    package init(warnBefore: [Duration] = [.seconds(6 * 3600), .seconds(3600)]) {
        self.warnBefore = warnBefore
    }
}
