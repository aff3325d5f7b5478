// SPDX-License-Identifier: Apache-2.0
package io.smqtt.replication;

/** As many entries, or bytes, as are allowed wait for a majority. The entry was not proposed. */
final class GroupOverloadedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    GroupOverloadedException(int entries, long bytes) {
        super(entries + " entries with " + bytes + " bytes wait for a majority", null, false, false);
    }
}
