// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Writes a value so that it is one value wherever it stands in a filter (RFC 4515) or in a distinguished name (RFC 4514). */
final class LdapEscape {

    private static final String PLAIN = "-_.@";
    private static final HexFormat HEX = HexFormat.of();

    private LdapEscape() {}

    /** Writes every byte of UTF-8 as a backslash and two digits, except for ASCII letters, digits and {@value #PLAIN}: both forms read that. */
    static String value(String value) {
        StringBuilder escaped = new StringBuilder(value.length());
        for (byte unit : value.getBytes(StandardCharsets.UTF_8)) {
            if (isPlain(unit)) {
                escaped.append((char) unit);
            } else {
                escaped.append('\\').append(HEX.toHexDigits(unit));
            }
        }
        return escaped.toString();
    }

    private static boolean isPlain(byte unit) {
        return (unit >= 'a' && unit <= 'z')
                || (unit >= 'A' && unit <= 'Z')
                || (unit >= '0' && unit <= '9')
                || (unit > 0 && PLAIN.indexOf(unit) >= 0);
    }
}
