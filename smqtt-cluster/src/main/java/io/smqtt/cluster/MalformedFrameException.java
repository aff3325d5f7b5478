// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/** Bytes that are no frame. Carries no stack trace: anybody can send such bytes. */
final class MalformedFrameException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    MalformedFrameException(String message) {
        super(message, null, false, false);
    }
}
