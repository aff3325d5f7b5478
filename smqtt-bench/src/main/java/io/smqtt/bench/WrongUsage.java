// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** A request that is invalid or not allowed; the message is for the user. */
final class WrongUsage extends RuntimeException {

    private static final long serialVersionUID = 1;

    WrongUsage(String message) {
        super(message);
    }
}
