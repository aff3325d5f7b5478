// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/** Cipher suites by the names of OpenSSL, and their standard names. */
final class CipherNames {

    /** The suites of TLS 1.3, which OpenSSL has under their standard names, in the order of mosquitto's default. */
    static final String TLS_1_3 = "TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256,TLS_AES_128_GCM_SHA256";

    private static final Pattern AES =
            Pattern.compile("(?:(ECDHE-ECDSA|ECDHE-RSA|DHE-RSA|DHE-DSS)-)?AES(128|256)-(GCM-)?(SHA|SHA256|SHA384)");
    private static final Pattern CHACHA = Pattern.compile("(ECDHE-ECDSA|ECDHE-RSA|DHE-RSA)-CHACHA20-POLY1305");

    private static final Set<String> KNOWN = known();

    private CipherNames() {}

    private static Set<String> known() {
        try {
            String[] names = SSLContext.getDefault().getSupportedSSLParameters().getCipherSuites();
            return new TreeSet<>(Arrays.asList(names));
        } catch (NoSuchAlgorithmException e) {
            return Set.of();
        }
    }

    /** The suites of TLS 1.2 that are used if only those of TLS 1.3 are configured. */
    static List<String> withForwardSecrecy() {
        return Stream.of(
                        "ECDHE-ECDSA-AES256-GCM-SHA384",
                        "ECDHE-RSA-AES256-GCM-SHA384",
                        "ECDHE-ECDSA-CHACHA20-POLY1305",
                        "ECDHE-RSA-CHACHA20-POLY1305",
                        "ECDHE-ECDSA-AES128-GCM-SHA256",
                        "ECDHE-RSA-AES128-GCM-SHA256")
                .map(CipherNames::standard)
                .filter(Objects::nonNull)
                .toList();
    }

    /**
     * The standard name of a suite.
     *
     * @param name a name of OpenSSL, or a standard name
     * @return null if the Java runtime does not have it, or it is a group of suites such as {@code HIGH}
     */
    static @Nullable String standard(String name) {
        String standard = name;
        Matcher aes = AES.matcher(name);
        Matcher chacha = CHACHA.matcher(name);
        if (aes.matches()) {
            String mode = aes.group(3) == null ? "CBC" : "GCM";
            standard = exchange(aes.group(1)) + "AES_" + aes.group(2) + "_" + mode + "_" + aes.group(4);
        } else if (chacha.matches()) {
            standard = exchange(chacha.group(1)) + "CHACHA20_POLY1305_SHA256";
        }
        return KNOWN.contains(standard) && !standard.endsWith("_SCSV") ? standard : null;
    }

    private static String exchange(@Nullable String name) {
        return "TLS_" + (name == null ? "RSA" : name.replace('-', '_')) + "_WITH_";
    }
}
