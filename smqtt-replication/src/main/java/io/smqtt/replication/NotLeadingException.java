// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/**
 * This node does not lead the group, or not any more. An entry that was proposed before may have been committed by the next leader, unless
 * the message says that it was refused.
 */
final class NotLeadingException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    NotLeadingException(String message) {
        super(message, null, false, false);
    }
}
