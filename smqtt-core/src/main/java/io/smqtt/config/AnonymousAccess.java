// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

/** Which clients may connect without a user name. */
public enum AnonymousAccess {
    /** Those from loopback addresses. */
    LOOPBACK,
    /** All. */
    TRUE,
    /** None. */
    FALSE
}
