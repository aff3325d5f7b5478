// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * One run of one node.
 *
 * @param nodeId the name, kept over restarts
 * @param epoch grows with each run; what an older run said is void
 */
record NodeIdentity(String nodeId, long epoch) {

    @Override
    public String toString() {
        return nodeId + '@' + epoch;
    }
}
