// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

/**
 * Identifies a claim.
 *
 * @param claimant the node of the client
 * @param epoch the run of that node
 * @param number the number of the claim in that run
 * @param clientId the claimed client identifier
 */
record ClaimKey(String claimant, long epoch, long number, String clientId) {}
