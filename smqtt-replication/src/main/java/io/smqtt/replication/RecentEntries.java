// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

import java.util.HashMap;
import java.util.Map;
import org.jgroups.protocols.raft.LogEntry;
import org.jspecify.annotations.Nullable;

/** The last entries of a log, up to a number of bytes: they are read again at once, to be applied and sent. Not thread-safe. */
final class RecentEntries {

    private final long maxBytes;
    private final Map<Long, LogEntry> entries = new HashMap<>();
    private long oldest = 1;
    private long end = 1;
    private long bytes;

    RecentEntries(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Adds the entry behind the last one, or the first one of another run of entries. */
    void add(long index, LogEntry entry) {
        if (index != end) {
            clear(index);
        }
        entries.put(index, entry);
        bytes += sizeOf(entry);
        end++;
        while (bytes > maxBytes) {
            LogEntry removed = entries.remove(oldest++);
            bytes -= removed == null ? 0 : sizeOf(removed);
        }
    }

    @Nullable
    LogEntry get(long index) {
        return entries.get(index);
    }

    /** Forgets an entry and those behind it. */
    void removeFrom(long index) {
        while (end > oldest && end > index) {
            LogEntry removed = entries.remove(--end);
            bytes -= removed == null ? 0 : sizeOf(removed);
        }
    }

    /**
     * Forgets all entries.
     *
     * @param next the index of the next one
     */
    void clear(long next) {
        entries.clear();
        bytes = 0;
        oldest = next;
        end = next;
    }

    private static int sizeOf(LogEntry entry) {
        return EntryRecord.OVERHEAD_BYTES + entry.length();
    }
}
