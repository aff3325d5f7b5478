// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/** A load that cannot be run, or not to its end; the message is for people. */
final class LoadFailure extends RuntimeException {

    private static final long serialVersionUID = 1;

    LoadFailure(String message) {
        super(message);
    }
}
