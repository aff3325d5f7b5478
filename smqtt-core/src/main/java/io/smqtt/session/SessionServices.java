// SPDX-License-Identifier: Apache-2.0
package io.smqtt.session;

/**
 * The services of a node that all of its sessions share.
 *
 * @param resources the parts of the broker
 * @param groups the queues of shared groups
 * @param wills publishes wills
 * @param history the messages that the sessions have taken lately
 */
record SessionServices(SessionResources resources, GroupQueues groups, WillPublisher wills, DeliveryHistory history) {}
