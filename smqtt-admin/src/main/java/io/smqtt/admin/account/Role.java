// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import java.util.Locale;

/** A role at the management port. */
public enum Role {

    /** Everything, users and keys included. */
    ADMINISTRATOR,

    /** Everything but users, keys and configuration. */
    OPERATOR,

    /** Reads. */
    VIEWER,

    /** Publishes messages, and nothing else. */
    PUBLISHER;

    /**
     * Tells whether this role may do what another one may.
     *
     * @param least the role that is needed
     * @return true if this role includes it
     */
    public boolean includes(Role least) {
        return switch (this) {
            case ADMINISTRATOR -> true;
            case OPERATOR -> least != ADMINISTRATOR;
            case VIEWER, PUBLISHER -> least == this;
        };
    }

    /**
     * Returns the name of the role in JSON.
     *
     * @return the name in lower case
     */
    public String text() {
        return name().toLowerCase(Locale.ROOT);
    }
}
