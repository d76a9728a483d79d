import Foundation

// What callers may say of a callback, and how it is read.

/// What makes a callback.
package struct CallbackDraft: Sendable {
    package let url: CallbackURL
    package let format: Callback.Format
    package let filter: CallbackFilter
    package let description: String
}

/// What changes a callback; what is nil stays.
package struct CallbackChange: Sendable {
    package var url: CallbackURL?
    package var types: Set<String>?
    package var products: Set<String>?
    package var environments: Set<AppStoreEnvironment>?
    package var description: String?
    package var state: Callback.State?

    /// The names of what it changes, in ascending order.
    var names: [String] {
        let given: [(String, Bool)] = [
            ("description", description != nil), ("environments", environments != nil), ("products", products != nil),
            ("state", state != nil), ("types", types != nil), ("url", url != nil),
        ]
        return given.filter(\.1).map(\.0)
    }

    /// Applies it at a time.
    func apply(to callback: inout Callback, at now: Date) {
        if let url { callback.url = url }
        if let types { callback.filter.types = types }
        if let products { callback.filter.products = products }
        if let environments { callback.filter.environments = environments }
        if let description { callback.description = description }
        if let state, state != callback.state {
            callback.state = state
            callback.pauseReason = state == .paused ? .requested : nil
            if state == .active { callback.hasMissedEvents = false }
        }
        callback.updatedAt = now
    }
}

extension FieldReader {
    /// The longest `description` of a callback, in bytes.
    private static let maximumDescription = 200
    /// The longest type or product id of a filter, in bytes.
    private static let maximumName = 255

    /// What makes a callback; nil where a rule is broken.
    package mutating func callbackDraft(_ policy: CallbackPolicy) -> CallbackDraft? {
        let url = callbackURL(policy, isRequired: true)
        let format = choice("format", Callback.Format.self)
        let types = callbackTypes(format)
        let products = callbackProducts()
        let environments = callbackEnvironments()
        let description = text("description", isRequired: false, bytes: 0...Self.maximumDescription)
        guard isValidSoFar, let url, let format else { return nil }
        return CallbackDraft(
            url: url, format: format,
            filter: CallbackFilter(types: types ?? [], products: products ?? [], environments: environments ?? []),
            description: description ?? "")
    }

    /// What changes a callback of a format; at least one thing.
    package mutating func callbackChange(_ policy: CallbackPolicy, of format: Callback.Format) -> CallbackChange {
        var change = CallbackChange()
        change.url = callbackURL(policy, isRequired: false)
        change.types = callbackTypes(format)
        change.products = callbackProducts()
        change.environments = callbackEnvironments()
        change.description = text("description", isRequired: false, bytes: 0...Self.maximumDescription)
        change.state = choice("state", Callback.State.self, isRequired: false)
        forbid("format", "immutable", "`format` cannot be changed; make another callback.")
        if isValidSoFar, change.names.isEmpty {
            note(
                "body", "required",
                "Give at least one of `url`, `types`, `products`, `environments`, `description` and `state`.")
        }
        return change
    }

    private mutating func callbackURL(_ policy: CallbackPolicy, isRequired: Bool) -> CallbackURL? {
        let url = value(
            "url", isRequired: isRequired,
            expected:
                "an `https://` URL without user, password and fragment, of at most \(CallbackURL.maximumBytes) bytes"
        ) { CallbackURL($0) }
        guard let url else { return nil }
        guard policy.admits(url) else {
            note(
                "url", "hostNotAllowed",
                "`url` names a host that callbacks may not post to; the platform team allows it with `callbacks.allowedHosts`."
            )
            return nil
        }
        return url
    }

    private mutating func callbackTypes(_ format: Callback.Format?) -> Set<String>? {
        let known = Set(ServiceEvent.Kind.allCases.map(\.cloudEventType))
        return set(
            "types",
            format == .apple
                ? "a notification type of Apple's, such as `REFUND`"
                : "the type of an event, such as `purser.case.opened`"
        ) { text in
            format == .apple
                ? (1...Self.maximumName).contains(text.utf8.count)
                    && text.utf8.allSatisfy {
                        $0 == UInt8(ascii: "_") || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    } : known.contains(text)
        }
    }

    private mutating func callbackProducts() -> Set<String>? {
        set("products", "a product id of 1 to \(Self.maximumName) bytes") { text in
            (1...Self.maximumName).contains(text.utf8.count)
        }
    }

    private mutating func callbackEnvironments() -> Set<AppStoreEnvironment>? {
        set("environments", "`Production` or `Sandbox`") { AppStoreEnvironment(rawValue: $0) != nil }
            .map { Set($0.compactMap(AppStoreEnvironment.init(rawValue:))) }
    }

    private mutating func set(_ name: String, _ element: String, where isValid: (String) -> Bool) -> Set<String>? {
        strings(
            name, atMost: CallbackFilter.maximumCount, isRequired: false,
            expected: "a list of at most \(CallbackFilter.maximumCount) texts; an empty one means all",
            element: element,
            nil, where: isValid
        ).map(Set.init)
    }
}
