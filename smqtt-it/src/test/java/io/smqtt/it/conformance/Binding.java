// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.util.Locale;

/** Whom a normative statement binds. */
enum Binding {
    /** The server must do it. */
    SERVER("server"),
    /** A client must do it and the server must notice when it does not. */
    CLIENT_CHECKED_BY_SERVER("client, checked by server"),
    /** A client must do it and the server cannot tell. */
    CLIENT_ONLY("client only"),
    /** Nobody can break it. */
    NONE("none");

    private final String label;

    Binding(String label) {
        this.label = label;
    }

    /** Parses the second column of the register. */
    static Binding parse(String column) {
        return valueOf(column.replace('-', '_').toUpperCase(Locale.ROOT));
    }

    /** Whether the broker needs a test or a reason for it. */
    boolean asksTheServer() {
        return this == SERVER || this == CLIENT_CHECKED_BY_SERVER;
    }

    /** The words for readers. */
    String label() {
        return label;
    }
}
