// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** Something was asked for that makes no sense or is not allowed; the message is for people. */
final class WrongUsage extends RuntimeException {

    private static final long serialVersionUID = 1;

    WrongUsage(String message) {
        super(message);
    }
}
