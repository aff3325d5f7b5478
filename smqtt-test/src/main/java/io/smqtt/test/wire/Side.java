// SPDX-License-Identifier: Apache-2.0
package io.smqtt.test.wire;

/** The sender of a packet. */
public enum Side {
    /** The client. */
    CLIENT('>'),

    /** The broker. */
    BROKER('<');

    private final char sign;

    Side(char sign) {
        this.sign = sign;
    }

    char sign() {
        return sign;
    }
}
