import Foundation
import OpenSSL

/// Key files of every wrong kind, made once with OpenSSL's command line for these tests and used nowhere else, and
/// helpers to bend right ones.
enum KeyFixtures {
    /// A fresh key in PKCS#8 PEM.
    static func pkcs8PEM() throws -> String {
        try text(of: ECPrivateKey.generate().pkcs8PEM())
    }

    static func text(of secret: SecureBytes) -> String {
        secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The content of the one block of a PEM text.
    static func der(ofPEM pem: String) -> [UInt8] {
        let lines = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        return Data(base64Encoded: lines.joined()).map { Array($0) } ?? []
    }

    static func pem(_ der: [UInt8], label: String = "PRIVATE KEY") -> String {
        "-----BEGIN \(label)-----\n\(Data(der).base64EncodedString())\n-----END \(label)-----\n"
    }

    static let rsa = """
        -----BEGIN PRIVATE KEY-----
        MIICeAIBADANBgkqhkiG9w0BAQEFAASCAmIwggJeAgEAAoGBAMIB6M2k1nvtt07I
        t8hRvuRMMuJQ3onZi34XPnP0MXk3fTkJM1cZTje7FKFYEQGUYF7ZG075JaKEDfnr
        RCAvAWkx78blqMiS14P3q68/nlwcXXjHBFBvyNvyM+juVXDfcKoGcEaALhproT2N
        YUBay20JZXBNav5mg2itukgqlK7pAgMBAAECgYA8Lq9zK5FFfGaC0A0C3SjkVSbr
        wb5m8M8u3DMJcVTvj2EPEmWUvUrgSu6JZnJQFSEYCy1HgE5GbcSQJIVLnolG9zLr
        IgyDnq3hU7OTsgTMmjHb9ZiRMfW/rl/IwJ3c6Zl4S5SJShr84D45gDN+3oshstrU
        F0NhHO4sUrbsyVUmAQJBAP6QTLYAYvK/Hi8wZ5iIDL6a26ZuhSreOY+Xs5bNYGVf
        Kod5a9KVYqEvMiMcArcA4GjHW2HnAGciD4ouJ8z0dwkCQQDDGiPqztUm/VMANBDb
        POj0J+3MyjFisqdew4HScvc5PR5r/WqZZScqiRdyq2aQZi+r+BQ9JSSNE7bDc/Sk
        a5DhAkEAhhTNQuPLOl6t8F8HgdDPHaoFXZFC9QRdvyNBRYHhbyOEDB1JTH7Al3N7
        bgC38Vo12RqAKH36uVe4ZajP7+UnuQJBAIH6T0VmaBDiocI37abxjEzksQNHDOGx
        Hdn/K+UVXGjQtAzDtpndDtvCm1F0qQ64VTgfPPSDYzdtk8vg23ISi2ECQQCT1Wlv
        2H7NHDd4qzILDajkn3V/TzER72GpIVLcWhZXmuE9t/Kr5fAqTonMbzT0DrXKtgAa
        hDw5xyTuzfX9vDbV
        -----END PRIVATE KEY-----
        """

    /// Only the label matters.
    static let rsaTraditional = """
        -----BEGIN RSA PRIVATE KEY-----
        MIICXgIBAAKBgQDCAejNpNZ77bdOyLfIUb7kTDLiUN6J2Yt+Fz5z9DF5N305CTNX
        -----END RSA PRIVATE KEY-----
        """

    static let ed25519 = """
        -----BEGIN PRIVATE KEY-----
        MC4CAQAwBQYDK2VwBCIEIJLPdN0sirWHQe0HmcPLdOgk45GFKYF4dRe11Lxrs7iK
        -----END PRIVATE KEY-----
        """

    static let secp256k1 = """
        -----BEGIN PRIVATE KEY-----
        MIGEAgEAMBAGByqGSM49AgEGBSuBBAAKBG0wawIBAQQgtNBQP9G/ipyO9Y3jItWS
        GNY5e1uKmO6mMZ4YOckzNi+hRANCAARD3YRgGnuJhYEmyxPPLoXY2NjXp7cLBAPT
        xCX9H0EeuMJYUE9YECV5qawStyeciG6rlcFr1azx0pdSmz552MN3
        -----END PRIVATE KEY-----
        """

    /// P-256, but by its equation instead of its name.
    static let explicitParameters = """
        -----BEGIN PRIVATE KEY-----
        MIIBeQIBADCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAAB
        AAAAAAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA
        ///////////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMV
        AMSdNgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg
        9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8A
        AAAA//////////+85vqtpxeehPO5ysL8YyVRAgEBBG0wawIBAQQgyg20+lqoacpg
        7cm0Tz7ofAtUPThHCPKZrtSniOfU3uWhRANCAASXXt4tH07b1+biY3GurJ06S7bU
        nBBmSOtNmJhAqz7xTcbeiWNq/m6wTbeDVMFOPBPSznFt89fk4ReZ6RHJA+Sd
        -----END PRIVATE KEY-----
        """

    static let sec1 = """
        -----BEGIN EC PRIVATE KEY-----
        MHcCAQEEINkanfuxSJSvUVXTwN93y0+g6R1DAkv7DN/g2JhCXRqaoAoGCCqGSM49
        AwEHoUQDQgAE5BwGz7vO9Na7l64Nu8ubDMDXxZCMHe910oVe6+VHiJY+AQMJjRR/
        IiKhZT/357cbEMA55yT+b7b9IKBpl6lEgQ==
        -----END EC PRIVATE KEY-----
        """

    static let sec1WithParameters = """
        -----BEGIN EC PARAMETERS-----
        BggqhkjOPQMBBw==
        -----END EC PARAMETERS-----
        \(sec1)
        """

    static let sec1Encrypted = """
        -----BEGIN EC PRIVATE KEY-----
        Proc-Type: 4,ENCRYPTED
        DEK-Info: AES-128-CBC,75022276DC2A152B266E475FECA5FCB1

        CMg/ByczTzuTMZR+eXhHFN7b8yME4vZ5IrvSRT8Z3xGccUFBl4ABOmypXZ/fmrdV
        hJpdF+cS3X2xwJ4+A9Ok5cvreDa9y2TObG1GjyXa0CLjVMrQ19OpZaF0xETVQy0v
        zEpFjA4TvyGpBBQ6iI8vPJNmbYZwtTILGDIRPmZP6jA=
        -----END EC PRIVATE KEY-----
        """

    static let encrypted = """
        -----BEGIN ENCRYPTED PRIVATE KEY-----
        MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjuVgt5Gk4v7AICCAAw
        DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEAUAZnrBNSCR8Y8bUUZVWFoEgZDi
        2sB+krYwXJSxm3MixnaHCtBWPGgUq0SgB7Y9EpX8Tx4/+ueBuFEVcU4gZwuSE7DN
        IaptO/iNVgR1r8OIsoNjz5/6pAWa0fnVtDxyPxRxkcCnO5wuYt3JrPHdLXEfgKZE
        Zmk/Y6UoGn8L79F2iT6OOMaYoXx/epxrqjuCY3n2E9cASe1DzNvMZ09Gg0xHCM0=
        -----END ENCRYPTED PRIVATE KEY-----
        """

    /// Only the label matters.
    static let certificateRequest = """
        -----BEGIN CERTIFICATE REQUEST-----
        MIHOMHYCAQAwFDESMBAGA1UEAwwJdGhyb3dhd2F5MFkwEwYHKoZIzj0CAQYIKoZI
        -----END CERTIFICATE REQUEST-----
        """
}

extension [UInt8] {
    /// Reads hexadecimal digits; a test's own typing errors show as an empty array.
    init(hexadecimal text: String) {
        var bytes: [UInt8] = []
        var rest = text[...]
        while rest.count >= 2 {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { break }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self = rest.isEmpty ? bytes : []
    }
}
