// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.redis;

/** Redis has answered with what cannot be used. The message has no password. */
final class RedisFailedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    RedisFailedException(String message) {
        super(message, null, false, false);
    }
}
