// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** A load that cannot be run or completed; the message is for the user. */
final class LoadFailure extends RuntimeException {

    private static final long serialVersionUID = 1;

    LoadFailure(String message) {
        super(message);
    }
}
