// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/** Selects the clients that may connect without a user name. */
public enum AnonymousAccess {
    /** Clients with a loopback address. */
    LOOPBACK,
    /** All clients. */
    TRUE,
    /** No client. */
    FALSE
}
