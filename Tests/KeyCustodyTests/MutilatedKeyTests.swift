import Domain
import Foundation
import KeyCustody
import OpenSSL
import TestSupport
import Testing

/// Whatever a key file holds, nothing of a private key is in an error, a log line, a record or the store.
///
/// The seeds are fixed; a failure names the kind of key and the round.
struct MutilatedKeyTests {
    private static let rounds = 6

    /// What was written, each text with where it is from.
    private struct Output {
        var texts: [(place: String, text: String)] = []

        mutating func note(_ place: String, _ value: Any) {
            // A test report, a debugger or `dump` shows more than a description does.
            var dumped = ""
            dump(value, to: &dumped)
            texts.append((place, "\(value)\n\(String(reflecting: value))\n\(dumped)"))
        }

        func expectNothing(of traces: KeyTraces, sourceLocation: SourceLocation = #_sourceLocation) {
            for (place, text) in texts {
                let found = traces.findings(in: text)
                #expect(found.isEmpty, "\(found.sorted()) in \(place)", sourceLocation: sourceLocation)
            }
        }
    }

    @Test func `the search finds the key in most mutilated files, so that it could find it elsewhere`() throws {
        let (keys, traces) = try MutilatedKey.all(seed: 1, rounds: Self.rounds)
        #expect(keys.count >= 300)
        let found = keys.filter { !traces.findings(in: $0.bytes).isEmpty }
        // A public key and what was cut off early hold nothing.
        #expect(found.count > keys.count * 3 / 4)
        #expect(Set(keys.map(\.kind)).subtracting(found.map(\.kind)) == ["public key"])
    }

    @Test func `the parser quotes nothing of a key, and names line breaks, escapes, Base64 and quotes`() throws {
        let (keys, traces) = try MutilatedKey.all(seed: 2, rounds: Self.rounds)
        var output = Output()
        let named: [String: PrivateKeyError] = [
            "one line": .lineBreaksMissing, "SEC 1, one line": .lineBreaksMissing,
            "spaces for line breaks": .lineBreaksMissing, "SEC 1, spaces for line breaks": .lineBreaksMissing,
            "escaped line breaks": .escapedLineBreaks, "SEC 1, escaped line breaks": .escapedLineBreaks,
            "Base64 of the file": .base64OfFile, "Base64 of the file in lines": .base64OfFile, "quotes": .quoted,
            "single quotes": .quoted, "a word processor's quotes": .quoted, "the number as label": .otherBlock(nil),
        ]
        for key in keys {
            do throws(PrivateKeyError) {
                _ = try ECPrivateKey(pkcs8PEM: key.bytes)
                #expect(named[key.kind] == nil, "\(key.kind) loads")
            } catch {
                output.note(key.kind, error)
                #expect(named[key.kind].map { $0 == error } ?? true, "\(key.kind): \(error)")
            }
        }
        #expect(output.texts.count > keys.count / 2)
        output.expectNothing(of: traces)
    }

    @Test func `key files, credentials and master key files quote nothing of a key`() throws {
        let (keys, traces) = try MutilatedKey.all(seed: 3, rounds: Self.rounds)
        let fixture = try KeyFixture()
        var output = Output()
        for (number, key) in keys.enumerated() {
            let source: KeyDeclaration.Source = number % 2 == 0 ? .credential : .file(allowsGroupRead: false)
            let declaration = try fixture.file("K\(number)", Data(key.bytes), source: source)
            do throws(KeyFileError) {
                _ = try KeyFile.load(declaration)
            } catch {
                output.note("key file: \(key.kind)", error)
            }
            do throws(SecretFileError) {
                _ = try MasterKeyFile.load(declaration.path, allowsGroupRead: false)
                // 64 hexadecimal digits are a master key, whatever else they are.
                #expect(key.kind == "hexadecimal number")
            } catch {
                output.note("master key file: \(key.kind)", error)
            }
            let made = MasterKeySource.made(path: declaration.path)
            do throws(SecretFileError) { _ = try made.load() } catch {
                output.note("master key beside the store: \(key.kind)", error)
            }
        }
        #expect(output.texts.count > keys.count * 2)
        output.expectNothing(of: traces)
    }

    @Test func `a directory of keys quotes nothing of a key in problems, log lines and records`() async throws {
        let (keys, traces) = try MutilatedKey.all(seed: 4, rounds: Self.rounds)
        let fixture = try CustodianFixture()
        let folder = fixture.files.folder.appending(path: "directory")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (number, key) in keys.enumerated() {
            let file = folder.appending(path: "AuthKey_K\(number).p8")
            try Data(key.bytes).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        let directory = KeyDirectory(
            path: folder.path, issuerID: CustodianFixture.issuer, apps: ["coins"], allowsGroupRead: false)
        var output = Output()
        let problems = KeyDirectory.problems(of: [directory], declared: [])
        #expect(problems.count > keys.count / 2)
        output.note("problems", problems)
        let run = try await fixture.start(directories: [directory])
        await run.custodian.lookAtDirectories()
        output.note("overview", await run.custodian.overviewNow())
        try await noteRest(of: fixture, in: &output)
        #expect(fixture.log.lines("A file of a key directory is not used").count >= problems.count)
        output.expectNothing(of: traces)
    }

    @Test func `importing a key quotes nothing of it, and keeps nothing of it in clear`() async throws {
        let (keys, traces) = try MutilatedKey.all(seed: 5, rounds: Self.rounds)
        let fixture = try CustodianFixture()
        let run = try await fixture.start()
        var output = Output()
        var imported = 0
        for (number, key) in keys.enumerated() {
            let request = KeyImport(
                keyID: "K\(number)", issuerID: CustodianFixture.issuer, apps: ["coins"], text: SecretText(key.bytes))
            output.note("request: \(key.kind)", request)
            do throws(ServiceError) {
                output.note(
                    "import: \(key.kind)",
                    try await run.custodian.importKey(request, by: CustodianFixture.operatorActor))
                imported += 1
            } catch {
                output.note("import: \(key.kind)", error)
            }
        }
        // Line breaks of other systems, a long line.
        #expect(imported >= 3 * Self.rounds)
        output.note("overview", await run.custodian.overviewNow())
        try await noteRest(of: fixture, in: &output)
        for record in try await fixture.store.sealedSecrets() {
            #expect(traces.findings(in: record.sealed).isEmpty, "\(record.name) in the store")
        }
        output.expectNothing(of: traces)
    }

    /// What a custodian has logged, put on record and kept.
    private func noteRest(of fixture: CustodianFixture, in output: inout Output) async throws {
        for line in fixture.log.lines { output.note("log", line) }
        for act in fixture.audit.acts { output.note("audit", act) }
        output.note("store", try await fixture.store.keyStates())
        output.note("store", try await fixture.store.importedKeys())
    }
}
