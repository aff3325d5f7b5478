// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.net.ConnectException;
import java.net.UnknownHostException;
import org.jspecify.annotations.Nullable;

/** Error texts for the user. */
final class Failures {

    private Failures() {}

    static String text(@Nullable Throwable cause) {
        Throwable root = cause;
        while (root != null && root.getCause() != null) {
            root = root.getCause();
        }
        if (root == null) {
            return "unknown";
        }
        if (root instanceof UnknownHostException) {
            return "the host name cannot be resolved: " + root.getMessage();
        }
        String message = String.valueOf(root.getMessage());
        if (message.contains("Cannot assign requested address")) {
            return "no free local port is left: give several local addresses by --ifaddr, such as"
                    + " --ifaddr 127.0.0.2,127.0.0.3 on loopback";
        }
        if (message.contains("Too many open files")) {
            return "too many open files: raise the limit by ulimit -n";
        }
        boolean refused = root instanceof ConnectException || message.contains("Connection refused");
        return refused && message.contains("refused") ? "connection refused" : message;
    }

    /** The reason of a CONNACK (MQTT 3.1.1 table 3.1, MQTT 5.0 section 3.2.2.2). */
    static String connectReason(int version, int code) {
        if (version < 5) {
            return switch (code) {
                case 1 -> "unacceptable protocol version";
                case 2 -> "client identifier rejected";
                case 3 -> "server unavailable";
                case 4 -> "bad user name or password";
                case 5 -> "not authorized";
                default -> "code " + code;
            };
        }
        return switch (code) {
            case 0x84 -> "unsupported protocol version";
            case 0x85 -> "client identifier not valid";
            case 0x86 -> "bad user name or password";
            case 0x87 -> "not authorized";
            case 0x88 -> "server unavailable";
            case 0x89 -> "server busy";
            case 0x97 -> "quota exceeded";
            case 0x9F -> "connection rate exceeded";
            default -> "reason 0x" + Integer.toHexString(code);
        };
    }
}
