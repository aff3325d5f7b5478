// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/** A malformed frame. Has no stack trace, because untrusted peers can cause it. */
final class MalformedFrameException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    MalformedFrameException(String message) {
        super(message, null, false, false);
    }
}
