// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spi;

/**
 * The connections of the management port, by their last request. Immutable.
 *
 * @param known connections of callers with a valid token, login or API key
 * @param probes connections of health probes
 * @param others all other connections
 * @param refusedRequests requests of known callers refused since the start because the maximum number was in progress
 */
public record ManagementStatus(Connections known, Connections probes, Connections others, long refusedRequests) {

    /**
     * The connections of one class.
     *
     * @param open number of open connections
     * @param closed number of connections closed since the start to make room for others of the class
     */
    public record Connections(int open, long closed) {}
}
