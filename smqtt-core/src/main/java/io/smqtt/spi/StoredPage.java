// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Messages that were read for a session.
 *
 * @param messages in order of sequence numbers; empty if there are no more
 * @param failure the failure of the read, or null
 */
public record StoredPage(
        List<StoredMessage> messages, @Nullable Throwable failure) {

    /** Copies the list. */
    public StoredPage {
        messages = List.copyOf(messages);
    }
}
