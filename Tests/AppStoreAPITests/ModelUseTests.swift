import Testing

/// Apple documents more than the product needs: a type is left out until daemon or simulator reads or writes it.
struct ModelUseTests {
    /// What is signed for callers as it came, after a check of each field that tells every violation.
    ///
    /// The models stand for Apple's word, and a test of signatures holds that check against them.
    private static let heldByTests: Set = [
        "AdvancedCommerceOneTimeChargeCreateRequest", "AdvancedCommerceSubscriptionCreateRequest",
        "AdvancedCommerceSubscriptionModifyInAppRequest", "AdvancedCommerceSubscriptionReactivateInAppRequest",
        "PromotionalOfferSignatureV1",
    ]

    @Test func `every model and enumeration is used, or is part of one that is`() throws {
        let declarations = try ModuleSources.declarations()
        let reached = Self.reached(from: try ModuleSources.namesOfUsers().union(Self.heldByTests), declarations)
        let types = declarations.filter { ["WireModel", "OpenValue"].contains($0.inherited) }.map(\.name)
        #expect(types.count > 100)
        #expect(types.filter { !reached.contains($0) }.sorted() == [])
    }

    @Test func `what is said to be held by tests is there and not used`() throws {
        let declarations = try ModuleSources.declarations()
        let reached = Self.reached(from: try ModuleSources.namesOfUsers(), declarations)
        #expect(Self.heldByTests.intersection(reached).sorted() == [])
        #expect(Self.heldByTests.subtracting(declarations.map(\.name)).sorted() == [])
    }

    /// The declared types among some names, those that they are made of, and so on.
    private static func reached(
        from names: Set<String>, _ declarations: [ModuleSources.Declaration]
    ) -> Set<String> {
        let parts = Dictionary(uniqueKeysWithValues: declarations.map { ($0.name, $0.names) })
        var reached: Set<String> = []
        var next = names.intersection(parts.keys)
        while !next.isEmpty {
            reached.formUnion(next)
            next = next.reduce(into: Set()) { $0.formUnion(parts[$1] ?? []) }.intersection(parts.keys)
                .subtracting(reached)
        }
        return reached
    }
}
