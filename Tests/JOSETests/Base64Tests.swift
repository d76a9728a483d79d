import Foundation
import JOSE
import OpenSSL
import Testing

@Suite struct Base64Tests {
    /// Source: RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func publishedVectorsHoldBothWays(_ text: String, _ encoded: String) {
        let bytes = Array(text.utf8)
        #expect(Base64.encode(bytes) == encoded)
        #expect(Base64.decode(encoded) == bytes)
        let bare = encoded.replacing("=", with: "")
        #expect(Base64URL.encode(bytes) == bare)
        #expect(Base64URL.encodeBytes(bytes) == Array(bare.utf8))
        #expect(Base64URL.decode(bare) == bytes)
    }

    @Test func everyLengthAgreesWithFoundation() throws {
        for count in 0..<200 {
            let bytes = try SecureRandom.bytes(count)
            let standard = Data(bytes).base64EncodedString()
            let url = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(Base64.encode(bytes) == standard)
            #expect(Base64.decode(standard) == bytes)
            #expect(Base64URL.encode(bytes) == url)
            #expect(Base64URL.decode(Array(url.utf8).span) == bytes)
        }
    }

    @Test func everyByteIsADigitOfOneAlphabetOrRefused() {
        let digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
        for byte in UInt8.min...UInt8.max {
            for position in 0..<4 {
                var text = Array("AAAA".utf8)
                text[position] = byte
                #expect((Base64URL.decode(text.span) != nil) == (digits + "-_").utf8.contains(byte), "\(byte)")
            }
        }
        for byte in UInt8.min...0x7F where byte != UInt8(ascii: "=") {
            let text = "A\(UnicodeScalar(byte))AA"
            #expect((Base64.decode(text) != nil) == (digits + "+/").utf8.contains(byte), "\(byte)")
        }
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "Zg=", "A", "AAAAA", "Zm9v\n", " Zm9v", "Zm 9v", "Zm9v.", "ab+/", "Zé", "Zm9v====", "=",
    ])
    func textThatIsNotStrictBase64URLIsRefused(_ text: String) {
        #expect(Base64URL.decode(text) == nil)
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zm8", "Zg===", "=Zm9", "Z=m9", "Zm=9", "====", "AAAA====", "ab-_", "Zm9v\n", "Zm9\n", "Zm9 ",
        "Zm9v Zm9",
    ])
    func textThatIsNotStrictBase64IsRefused(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func leftOverBitsMustBeZero() {
        #expect(Base64URL.decode("Zg") == [0x66])
        for text in ["Zh", "Zi", "Zo", "Zv", "Z_"] { #expect(Base64URL.decode(text) == nil, "\(text)") }
        #expect(Base64URL.decode("Zm8") == [0x66, 0x6F])
        for text in ["Zm9", "Zm-", "Zm_"] { #expect(Base64URL.decode(text) == nil, "\(text)") }
        #expect(Base64.decode("Zh==") == nil)
        #expect(Base64.decode("Zm9=") == nil)
    }
}
